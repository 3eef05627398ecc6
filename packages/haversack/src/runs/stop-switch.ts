/**
 * Stops a run from outside: gracefully (the sessions save and end), or now. `now` overrides `gracefully`, never the reverse. A drained run
 * finishes the tasks that it has and takes no others.
 */
export type StopHow = "gracefully" | "now";

export class StopSwitch {
  readonly #listeners = new Set<() => void>();
  #how: StopHow | undefined;
  #isDraining = false;

  get isDraining(): boolean {
    return this.#isDraining;
  }

  drain(): void {
    if (this.#isDraining) return;
    this.#isDraining = true;
    this.#tell();
  }

  get how(): StopHow | undefined {
    return this.#how;
  }

  request(how: StopHow): void {
    if (this.#how === how || this.#how === "now") return;
    this.#how = how;
    this.#tell();
  }

  #tell(): void {
    for (const listener of [...this.#listeners]) listener();
  }

  /** Called at every change. Returns a function that stops listening. */
  onRequest(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}
