/** Numbers in words that fit a narrow column. */
import type { Complex } from "../math/eigen";

const MINUS = "\u2212";

/** Three significant digits, with a proper minus sign. */
export function shown(value: number, digits = 3): string {
  if (Number.isNaN(value)) return "undefined";
  if (!Number.isFinite(value)) return value > 0 ? "\u221e" : `${MINUS}\u221e`;
  if (value === 0) return "0";
  const size = Math.abs(value);
  const text = size >= 1e5 || size < 1e-3 ? scientific(size, digits) : trimmed(size.toPrecision(digits));
  return (value < 0 ? MINUS : "") + text;
}

function scientific(size: number, digits: number): string {
  const [mantissa, exponent] = size.toExponential(Math.max(0, digits - 2)).split("e");
  const power = Number(exponent);
  return `${trimmed(mantissa)}e${power < 0 ? MINUS : ""}${Math.abs(power)}`;
}

function trimmed(text: string): string {
  const plain = text.includes("e") ? String(Number(text)) : text;
  return plain.includes(".") ? plain.replace(/\.?0+$/, "") : plain;
}

/** A fixed number of decimals, so that a moving number does not jump. */
export function steady(value: number, decimals = 2): string {
  const text = Math.abs(value).toFixed(decimals);
  return (value < 0 && Number(text) !== 0 ? MINUS : "") + text;
}

/** A number and its unit, which no line break parts. */
export function withUnit(number: string, unit: string): string {
  return `${number}\u00a0${unit}`;
}

/** A time in the unit that suits it. */
export function duration(seconds: number): string {
  const size = Math.abs(seconds);
  if (!Number.isFinite(seconds)) return "\u221e";
  if (size === 0) return withUnit("0", "s");
  if (size < 1e-3) return withUnit(shown(seconds * 1e6), "\u00b5s");
  if (size < 1) return withUnit(shown(seconds * 1e3), "ms");
  return withUnit(shown(seconds), "s");
}

/** A sentence that Python wrote, with the page's way of writing exponents, products and numbers with units. */
export function typeset(text: string): string {
  return text
    .replace(/(\d)e([-+]?)0*(\d)/g, (_all, digit: string, sign: string, exponent: string) => `${digit}e${sign === "-" ? MINUS : ""}${exponent}`)
    .replace(/(\d) x /g, "$1\u00a0\u00d7 ")
    .replace(/(\d) (s|ms)\b/g, "$1\u00a0$2");
}

/** A complex number; the imaginary part only where there is one. */
export function complex(value: Complex): string {
  if (Math.abs(value.im) < 1e-9 * Math.max(1, Math.abs(value.re))) return shown(value.re);
  return `${shown(value.re)} ${value.im < 0 ? MINUS : "+"} ${shown(Math.abs(value.im))}i`;
}

/** A share as whole percent; a small one is not shown as none. */
export function percent(share: number): string {
  if (share > 0 && share < 0.005) return "<\u00a01\u00a0%";
  return withUnit(String(Math.round(share * 100)), "%");
}

/** "1 stable point", "3 stable points". */
export function plural(count: number, thing: string): string {
  return `${count} ${thing}${count === 1 ? "" : "s"}`;
}
