/**
 * Work for moments in which nobody waits, in slices, so that none holds up the client's event loop for long. The first event that matters
 * ends it: what is left then would only delay that.
 */
export interface IdleSteps {
  /** No further step is run. */
  stop(): void;
}

/** A step that was begun is finished. */
const SLICE_MS = 10;

export function runWhenIdle(
  steps: readonly (() => void)[],
  { onFault, delayMs = 0 }: { onFault(fault: unknown): void; delayMs?: number },
): IdleSteps {
  const rest = [...steps];
  let cancel = (): void => undefined;
  const plan = () => {
    if (delayMs > 0) {
      // It never keeps a client from ending.
      const timer = setTimeout(next, delayMs).unref();
      cancel = () => clearTimeout(timer);
    } else {
      const turn = setImmediate(next).unref();
      cancel = () => clearImmediate(turn);
    }
  };
  const next = () => {
    const since = performance.now();
    try {
      // While it starts, a headless client (1.18.33) leaves three or four moments: one step in each would not be enough.
      while (performance.now() - since < SLICE_MS) {
        const step = rest.shift();
        if (!step) return;
        step();
      }
    } catch (fault) {
      // The later steps would meet the same fault.
      onFault(fault);
      return;
    }
    plan();
  };
  plan();
  return {
    stop() {
      rest.length = 0;
      cancel();
    },
  };
}
