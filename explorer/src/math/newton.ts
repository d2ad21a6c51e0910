/**
 * Roots of the drift by damped Newton steps, with Levenberg-Marquardt steps where the Jacobian is singular: the method, and
 * the numbers in it, of gnode/analysis/_fixed_points/newton.py, for one start at a time.
 */
import { distance, norm, solve, solvePositive } from "./linear";
import type { System } from "./system";

const NEWTON_LENGTHS = [1, 0.5, 0.25]; // a direction that only helps over a shorter step is a poor one
const DAMPED_LENGTHS = [1, 0.5, 0.25, 0.0625, 0.0039];
const MOST_AMPLIFICATION = 100; // J counts as singular along r if |p| |J| / |r| exceeds this
const LEAST_DECREASE = 0.01;
const GOOD_DECREASE = 0.1;
const FIRST_DAMPING = 1e-2;
const DAMPING_FACTOR = 4;
const DAMPING_BOUNDS = [1e-8, 1e8] as const;
const MOST_WEAK_STEPS = 2;
const ACCEPTED_AT_ONCE = 0.5; // a full step that at least halves |r| needs no comparison with shorter ones
const MOST_POLISHING = 3;

/** |r| after a step, and its length as a share of the full one. */
type Trial = { size: number; length: number };
const NO_STEP: Trial = { size: Infinity, length: 0 };

export interface Root {
  h: Float64Array;
  /** |drift|, in units of state. */
  size: number;
  converged: boolean;
  iterations: number;
  /** The length of the first step, which is how far the root is in the linear approximation. */
  firstStep: number;
}

export class Newton {
  private readonly n: number;
  private readonly J: Float64Array;
  private readonly copy: Float64Array;
  private readonly r: Float64Array;
  private readonly p: Float64Array;
  private readonly trial: Float64Array;
  private readonly trialDrift: Float64Array;
  private readonly best: Float64Array;

  constructor(
    private readonly system: System,
    private readonly tolerance: number,
    private readonly maxIterations: number,
  ) {
    this.n = system.n;
    this.J = new Float64Array(this.n * this.n);
    this.copy = new Float64Array(this.n * this.n);
    [this.r, this.p, this.trial, this.trialDrift, this.best] = Array.from({ length: 5 }, () => new Float64Array(this.n));
  }

  /** Iterates from a start; yields after every iteration. Other starts must wait until it has ended. */
  *from(start: Float64Array, x: Float64Array): Generator<void, Root, void> {
    const root: Root = { h: Float64Array.from(start), size: this.sizeAt(start, x), converged: false, iterations: 0, firstStep: 0 };
    let isDamped = false;
    let damping = FIRST_DAMPING;
    let weak = 0;
    while (Number.isFinite(root.size) && root.size > this.tolerance && root.iterations < this.maxIterations) {
      const before = root.size;
      const hasStep: boolean = isDamped ? this.dampedStep(root.h, x, before, damping) : this.newtonStep(root.h, x, before);
      const lengths: readonly number[] = isDamped ? DAMPED_LENGTHS : NEWTON_LENGTHS;
      const { size, length }: Trial = hasStep ? this.bestAlong(root.h, x, lengths, before) : NO_STEP;
      const improved: boolean = size < (1 - LEAST_DECREASE) * before;
      const isWeak: boolean = !(size <= (1 - GOOD_DECREASE) * before);
      if (improved) {
        if (root.iterations === 0) root.firstStep = distance(this.best, root.h);
        root.h.set(this.best);
        root.size = size;
      }
      root.iterations += 1;
      yield;
      if (!isDamped) {
        isDamped = isWeak;
        continue;
      }
      const factor = length === 1 ? 1 / DAMPING_FACTOR : DAMPING_FACTOR;
      if (improved) damping = Math.min(Math.max(damping * factor, DAMPING_BOUNDS[0]), DAMPING_BOUNDS[1]);
      weak = isWeak ? weak + 1 : 0;
      if (!improved || weak >= MOST_WEAK_STEPS) break;
    }
    root.converged = root.size <= this.tolerance;
    if (root.converged && root.iterations > 0) this.polish(root, x);
    return root;
  }

  /** A few more full steps, down to rounding, so that different starts end at the same numbers. */
  private polish(root: Root, x: Float64Array): void {
    for (let k = 0; k < MOST_POLISHING && root.size > 0; k++) {
      if (!this.newtonStep(root.h, x, root.size)) return;
      const { size } = this.bestAlong(root.h, x, [1], root.size);
      if (!(size < 0.5 * root.size)) return;
      root.h.set(this.best);
      root.size = size;
    }
  }

  private sizeAt(h: Float64Array, x: Float64Array): number {
    this.system.drift(h, x, this.trialDrift);
    return norm(this.trialDrift);
  }

  private linearise(h: Float64Array, x: Float64Array): void {
    this.system.drift(h, x, this.r);
    this.system.driftJacobian(h, x, this.J);
  }

  /** p = -J^(-1) r; false where J is singular. */
  private newtonStep(h: Float64Array, x: Float64Array, before: number): boolean {
    const { n, J, copy, r, p } = this;
    this.linearise(h, x);
    copy.set(J);
    for (let i = 0; i < n; i++) p[i] = -r[i];
    const pivot = solve(copy, p, n);
    const size = norm(J) / Math.sqrt(n);
    // If a pivot is zero up to rounding, the step along the null direction consists of rounding errors.
    return pivot >= Math.sqrt(Number.EPSILON) * size && pivot > 0 && norm(p) * size <= MOST_AMPLIFICATION * before;
  }

  /** p = -(J^T J + damping |r|)^(-1) J^T r. */
  private dampedStep(h: Float64Array, x: Float64Array, before: number, damping: number): boolean {
    const { n, J, copy, r, p } = this;
    this.linearise(h, x);
    copy.fill(0);
    p.fill(0);
    for (let k = 0; k < n; k++) {
      const row = k * n;
      for (let i = 0; i < n; i++) {
        const entry = J[row + i];
        if (entry === 0) continue;
        p[i] -= entry * r[k];
        for (let j = 0; j <= i; j++) copy[i * n + j] += entry * J[row + j];
      }
    }
    const floor = Number.EPSILON * norm(J) ** 2; // keeps the factor finite where J^T J is singular to rounding
    for (let i = 0; i < n; i++) copy[i * n + i] += damping * before + floor;
    return solvePositive(copy, p, n);
  }

  /** Puts the best of h + t p over the step lengths t into `best`. */
  private bestAlong(h: Float64Array, x: Float64Array, lengths: readonly number[], before: number): Trial {
    let found = NO_STEP;
    for (const length of lengths) {
      for (let i = 0; i < this.n; i++) this.trial[i] = h[i] + length * this.p[i];
      const size = this.sizeAt(this.trial, x);
      if (size < found.size) {
        found = { size, length };
        this.best.set(this.trial);
      }
      if (length === 1 && size <= ACCEPTED_AT_ONCE * before) break;
    }
    return found;
  }
}
