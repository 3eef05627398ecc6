/** A store that waits while its lock is held or the disk is full: a run of hours must not fail because of one minute. */
import { isFault } from "../base/errors.ts";

export interface Patience {
  /** In all, for one call. */
  limitMs: number;
  wait(ms: number): Promise<void>;
  onWait(why: string): void;
}

const FIRST_MS = 250;
const LONGEST_MS = 10_000;

export function patientStore<Store extends object>(store: Store, { limitMs, wait, onWait }: Patience): Store {
  return new Proxy(store, {
    get(target, name) {
      const found: unknown = Reflect.get(target, name, target);
      if (typeof found !== "function") return found;
      return async (...args: unknown[]) => {
        for (let [ms, waited] = [FIRST_MS, 0]; ; ms = Math.min(LONGEST_MS, ms * 2)) {
          try {
            return (await found.apply(target, args)) as unknown;
          } catch (error) {
            const mayPass = isFault(error, "store-locked") || isFault(error, "store-full");
            if (!mayPass || waited >= limitMs) throw error;
            if (waited === 0) onWait(`the store: ${error.message}`);
            await wait(ms);
            waited += ms;
          }
        }
      };
    },
  });
}
