/** Plans into the work state in SQLite. Open its handle with `durability: "full"`. */
import type { PlanImport, PlanReport, PlanStore } from "../work-plan.ts";
import type { Actor } from "../work-store.ts";
import { writeStore } from "./access.ts";
import type { StoreHandle } from "./handle.ts";
import { importPlan } from "./work/plan.ts";

export class SqlitePlanStore implements PlanStore {
  readonly #handle: StoreHandle;

  constructor(handle: StoreHandle) {
    this.#handle = handle;
  }

  async importPlan(plan: PlanImport, by: Actor): Promise<PlanReport> {
    return writeStore(this.#handle, (db) => importPlan(db, plan, by));
  }
}
