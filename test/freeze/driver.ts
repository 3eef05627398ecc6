/**
 * The ways to have an event answered. The suite is the same for all of them: what they answer and what they leave in the store must not
 * differ. `FREEZE_DRIVER=NAME` chooses one; `cold` runs by default.
 */
import { ColdDriver } from "./drivers/cold.ts";
import { InProcessDriver } from "./drivers/in-process.ts";
import { McpDriver } from "./drivers/mcp.ts";
import type { Project } from "./project.ts";
import type { Client } from "./recorded.ts";

/** An event as a client sends it. */
export interface SentEvent {
  client: Client;
  /** The client's own name of the event. */
  event: string;
  /**
   * What a hook gets on standard input; a string is sent as it is. Of opencode: `{ input, output }`, the two arguments of a plugin's hook.
   */
  payload: unknown;
  /** Variables of the client, beside the project's. */
  env: Readonly<Record<string, string>>;
  /** The store's files may only be read by whoever answers. */
  isReader?: boolean;
}

export interface Answered {
  /** "" for silence. Of opencode: what the plugin did, as JSON. */
  stdout: string;
  exit: number | null;
  /** Anything else that somebody would see. */
  stderr?: string;
}

export interface Driver {
  /** Whether this way takes the event at all. One that it does not take is answered by the cold way, as `init` would wire it. */
  takes(event: SentEvent): boolean;
  answer(event: SentEvent, project: Project): Promise<Answered> | Answered;
  /** Called after each scenario: nothing of it may stay open. */
  end(): Promise<void> | void;
}

/** To add a way: a class in `drivers/` and a line here. */
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
