/** The few things that every WebGL layer needs. */

export type Gl = WebGL2RenderingContext;

/** The context of an opaque canvas, which costs a browser less than one that shines through; null where there is none. */
export function contextOf(canvas: HTMLCanvasElement): Gl | null {
  try {
    return canvas.getContext("webgl2", { alpha: false, antialias: false, depth: false, powerPreference: "low-power" });
  } catch {
    return null;
  }
}

export interface Shader {
  program: WebGLProgram;
  at(name: string): WebGLUniformLocation | null;
}

function compiled(gl: Gl, type: number, source: string): WebGLShader {
  const shader = gl.createShader(type) as WebGLShader;
  gl.shaderSource(shader, `#version 300 es\nprecision highp float;\nprecision highp sampler2D;\n${source}`);
  gl.compileShader(shader);
  if (gl.getShaderParameter(shader, gl.COMPILE_STATUS) !== true && !gl.isContextLost())
    throw new Error(`A shader does not compile: ${gl.getShaderInfoLog(shader) ?? ""}`);
  return shader;
}

export function shader(gl: Gl, vertex: string, fragment: string): Shader {
  const program = gl.createProgram() as WebGLProgram;
  gl.attachShader(program, compiled(gl, gl.VERTEX_SHADER, vertex));
  gl.attachShader(program, compiled(gl, gl.FRAGMENT_SHADER, fragment));
  gl.linkProgram(program);
  if (gl.getProgramParameter(program, gl.LINK_STATUS) !== true && !gl.isContextLost())
    throw new Error(`The shaders do not fit together: ${gl.getProgramInfoLog(program) ?? ""}`);
  const places = new Map<string, WebGLUniformLocation | null>();
  const at = (name: string): WebGLUniformLocation | null => {
    if (!places.has(name)) places.set(name, gl.getUniformLocation(program, name));
    return places.get(name) ?? null;
  };
  return { program, at };
}

/** A texture that is read at its edge beyond its edge. */
export function texture(gl: Gl, filter: number): WebGLTexture {
  const made = gl.createTexture() as WebGLTexture;
  gl.bindTexture(gl.TEXTURE_2D, made);
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, filter);
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, filter);
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE);
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE);
  return made;
}

export type Rgb = readonly [number, number, number];

/** Reads #rgb, #rrggbb and rgb(...) as numbers from 0 to 1. */
export function rgb(colour: string): Rgb {
  const text = colour.trim();
  if (text.startsWith("#")) {
    const hex = text.length === 4 ? [...text.slice(1)].map((c) => c + c).join("") : text.slice(1);
    return [0, 2, 4].map((k) => parseInt(hex.slice(k, k + 2), 16) / 255) as unknown as Rgb;
  }
  const numbers = text.match(/[\d.]+/g) ?? ["0", "0", "0"];
  return numbers.slice(0, 3).map((part) => Number(part) / 255) as unknown as Rgb;
}

/** `count` colours between the stops, as bytes with full opacity. */
export function ramp(stops: readonly Rgb[], count: number): Uint8Array<ArrayBuffer> {
  const made = new Uint8Array(count * 4);
  for (let k = 0; k < count; k++) {
    const place = (k / (count - 1)) * (stops.length - 1);
    const low = Math.min(stops.length - 2, Math.floor(place));
    for (let c = 0; c < 3; c++) {
      const mixed = stops[low][c] + (place - low) * (stops[low + 1][c] - stops[low][c]);
      made[k * 4 + c] = Math.round(255 * mixed);
    }
    made[k * 4 + 3] = 255;
  }
  return made;
}
