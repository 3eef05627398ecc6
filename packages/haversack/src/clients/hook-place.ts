/** What every file of the hook is given: the project, its store, the client, and the way to the files that are loaded when needed. */
import type { DiscoverSettings } from "../engine/discover.ts";
import type { ClientProfile } from "../skills/activation.ts";
import type { StoreHandle } from "../store/sqlite/handle.ts";
import type { HookAdapter } from "./hook-adapter.ts";

export interface HookPlace {
  /** Absent: Claude Code. */
  adapter?: HookAdapter;
  root: string;
  /** The folder that stands for the root in the linked worktree that the event comes from. */
  worktree?: string | undefined;
  /** `.haversack/` */
  state: string;
  env: NodeJS.ProcessEnv;
  handle: StoreHandle;
  now: Date;
  client(): ClientProfile;
  settings(): DiscoverSettings;
  /** What the config files hold, the user's first. */
  configFiles(): unknown[];
  /** Loads what finds skills for a prompt. */
  discovery(): typeof import("./hook-prompt.ts");
  /** Loads what packets of new sessions and sub-agents need, and with it what packets are made with. */
  wake(): typeof import("./hook-wake.ts");
  packet(): typeof import("./hook-packet.ts");
  /** Loads what sessions need that go on. */
  again(): typeof import("./hook-again.ts");
  messages(): typeof import("./hook-messages.ts");
  log(): typeof import("./hook-log.ts");
  /** Loads what receipts need. */
  artifacts(): typeof import("./hook-artifacts.ts");
}

/** What waking needs of it. */
export type WakePlace = Omit<HookPlace, "log" | "discovery" | "artifacts" | "wake" | "again" | "messages">;
