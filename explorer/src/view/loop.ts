/** The loop of frames: it rests while nothing can be seen, and counts. */

export interface Stats {
  framesPerSecond: number;
  /** The mean time that a frame's own work takes. */
  millisecondsPerFrame: number;
  frames: number;
}

/** A frame counts as at most so many seconds: a page that slept does not leap. */
const LONGEST = 0.5;

export class Loop {
  private handle = 0;
  private last = 0;
  private readonly times: number[] = [];
  private work = 0;
  private frames = 0;
  private visible = true;
  private readonly observer: IntersectionObserver | null;

  constructor(
    target: HTMLElement,
    private readonly frame: (seconds: number) => void,
  ) {
    this.observer = typeof IntersectionObserver === "undefined" ? null : new IntersectionObserver((entries) => this.seen(entries[entries.length - 1].isIntersecting));
    this.observer?.observe(target);
    this.handle = requestAnimationFrame(this.tick);
  }

  private seen(visible: boolean): void {
    if (visible && !this.visible) {
      this.last = 0;
      this.times.length = 0;
      this.handle = requestAnimationFrame(this.tick);
    }
    this.visible = visible;
  }

  private readonly tick = (now: number): void => {
    if (!this.visible) return;
    this.handle = requestAnimationFrame(this.tick);
    const seconds = this.last === 0 ? 1 / 60 : Math.min(LONGEST, (now - this.last) / 1000);
    this.last = now;
    const began = performance.now();
    this.frame(seconds);
    this.work += 0.05 * (performance.now() - began - this.work);
    this.frames += 1;
    this.times.push(now);
    while (this.times.length > 1 && now - this.times[0] > 2000) this.times.shift();
  };

  get stats(): Stats {
    const span = this.times.length < 2 ? 0 : this.times[this.times.length - 1] - this.times[0];
    return { framesPerSecond: span > 0 ? ((this.times.length - 1) * 1000) / span : 0, millisecondsPerFrame: this.work, frames: this.frames };
  }

  destroy(): void {
    this.visible = false;
    cancelAnimationFrame(this.handle);
    this.observer?.disconnect();
  }
}
