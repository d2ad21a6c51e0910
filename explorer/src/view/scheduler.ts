/** Long computations as generators, a few milliseconds of them in every frame. */

export type Job = Generator<void, void, void>;

export class Scheduler {
  private readonly jobs = new Map<string, Job>();

  /** Starts a job; one of the same name that is under way is dropped. */
  start(name: string, job: Job): void {
    this.jobs.delete(name);
    this.jobs.set(name, job);
  }

  stop(name: string): void {
    this.jobs.delete(name);
  }

  get busy(): boolean {
    return this.jobs.size > 0;
  }

  has(name: string): boolean {
    return this.jobs.has(name);
  }

  /** Works on the jobs by turn for about `budget` milliseconds. */
  run(budget: number): void {
    const end = performance.now() + budget;
    while (this.jobs.size > 0) {
      for (const [name, job] of [...this.jobs]) {
        if (this.jobs.get(name) !== job) continue;
        if (job.next().done === true && this.jobs.get(name) === job) this.jobs.delete(name);
        if (performance.now() >= end) {
          this.toTheBack(name);
          return;
        }
      }
    }
  }

  private toTheBack(name: string): void {
    const job = this.jobs.get(name);
    if (job === undefined) return;
    this.jobs.delete(name);
    this.jobs.set(name, job);
  }
}
