/**
 * Drivers: the ways to answer an event. The suite is the same for all of them, because neither their answers nor their changes to the store may
 * differ. `FREEZE_DRIVER=NAME` selects one; the default is `cold`.
 */
import { ColdDriver } from "./drivers/cold.ts";
import { InProcessDriver } from "./drivers/in-process.ts";
import { McpDriver } from "./drivers/mcp.ts";
import type { Project } from "./project.ts";
import type { Client } from "./recorded.ts";

/** An event as a client sends it. */
export interface SentEvent {
  client: Client;
  /** The client's own name for the event. */
  event: string;
  /** What a hook gets on standard input; strings are sent as is. For opencode: `{ input, output }`, the two arguments of a plugin hook. */
  payload: unknown;
  /** The client's variables, in addition to the project's. */
  env: Readonly<Record<string, string>>;
  /** The process that answers may only read the store's files. */
  isReader?: boolean;
}

export interface Answered {
  /** "" for no output. For opencode: what the plugin did, as JSON. */
  stdout: string;
  exit: number | null;
  /** Any other visible output. */
  stderr?: string;
}

export interface Driver {
  /** Whether this driver handles the event. Otherwise the cold driver answers, as `init` would wire it. */
  takes(event: SentEvent): boolean;
  answer(event: SentEvent, project: Project): Promise<Answered> | Answered;
  /** Called after each scenario: must close everything. */
  end(): Promise<void> | void;
}

/** To add a driver: a class in `drivers/` and a line here. */
const DRIVERS: Readonly<Record<string, () => Driver>> = {
  cold: () => new ColdDriver(),
  "in-process": () => new InProcessDriver(),
  mcp: () => new McpDriver(),
};

export function chosenDriver(name = process.env["FREEZE_DRIVER"] ?? "cold"): Driver {
  const make = DRIVERS[name];
  if (!make) throw new Error(`FREEZE_DRIVER is ${name}; there are ${Object.keys(DRIVERS).join(", ")}`);
  const [driver, cold] = [make(), new ColdDriver()];
  return {
    takes: () => true,
    answer: (event, project) => (driver.takes(event) ? driver : cold).answer(event, project),
    async end() {
      await driver.end();
      await cold.end();
    },
  };
}
