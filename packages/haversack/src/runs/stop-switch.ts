/** Stops a run from outside: gracefully (the sessions save and end), or now. `now` overrides `gracefully`, never the reverse. */
export type StopHow = "gracefully" | "now";

export class StopSwitch {
  readonly #listeners = new Set<() => void>();
  #how: StopHow | undefined;

  get how(): StopHow | undefined {
    return this.#how;
  }

  request(how: StopHow): void {
    if (this.#how === how || this.#how === "now") return;
    this.#how = how;
    for (const listener of [...this.#listeners]) listener();
  }

  /** Called at every change. Returns a function that stops listening. */
  onRequest(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}
