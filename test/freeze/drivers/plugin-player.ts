/** Plays opencode: one plugin for each project, as long as the scenario runs, and the few things that it may ask of the client. */
import { pathToFileURL } from "node:url";
import { vi } from "vitest";
import type { PluginHooks, PluginInput } from "../../../packages/haversack/src/clients/opencode/client-api.ts";
import type { Answered, SentEvent } from "../driver.ts";
import type { Project } from "../project.ts";
import type { Fields } from "../recorded.ts";

type Hook = (input: unknown, output: unknown) => Promise<void>;

interface Playing {
  hooks: Record<string, Hook | undefined>;
  /** What it has sent to sessions since it was last asked. */
  sent: unknown[];
}

/** Names in the recorded files that are shorter than the client's. */
const HOOKS: Readonly<Record<string, string>> = {
  "session.compacting": "experimental.session.compacting",
  "compaction.autocontinue": "experimental.compaction.autocontinue",
};

export class PluginPlayer {
  readonly #file: string;
  readonly #playing = new Map<string, Playing>();

  constructor(file: string) {
    this.#file = file;
  }

  async answer({ event, payload, env }: SentEvent, project: Project): Promise<Answered> {
    const { input, output } = payload as { input: Fields; output: Fields };
    return await withEnvironment({ ...project.env, ...env }, async () => {
      const playing = this.#playing.get(project.root) ?? (await this.#start(project));
      const before = JSON.stringify(output);
      const hook = playing.hooks[HOOKS[event] ?? event];
      const refused = await withoutLater(async () =>
        hook?.(input, output).then(
          () => undefined,
          (error: Error) => error.message,
        ),
      );
      const sent = playing.sent.splice(0);
      const did = {
        ...(JSON.stringify(output) !== before && { output }),
        ...(sent.length > 0 && { sent }),
        ...(refused !== undefined && { refused }),
      };
      return { stdout: Object.keys(did).length > 0 ? JSON.stringify(did) : "", exit: 0 };
    });
  }

  async end(): Promise<void> {
    for (const root of [...this.#playing.keys()]) await this.#stop(root);
  }

  async #start({ root }: Project): Promise<Playing> {
    const sent: unknown[] = [];
    const session: PluginInput["client"]["session"] = {
      get: async () => ({ data: {} }),
      messages: async () => ({ data: [] }),
      prompt: async (request) => void sent.push(request),
    };
    const { Haversack } = (await import(/* @vite-ignore */ pathToFileURL(this.#file).href)) as {
      Haversack(input: PluginInput, options: object): Promise<Partial<PluginHooks>>;
    };
    const client = { session };
    const hooks = await withoutLater(() => Haversack({ directory: root, worktree: root, client }, { server: [] }));
    const playing = { hooks: hooks as Playing["hooks"], sent };
    this.#playing.set(root, playing);
    await (hooks.config as Hook | undefined)?.({}, {});
    return playing;
  }

  async #stop(root: string): Promise<void> {
    await this.#playing.get(root)?.hooks["dispose"]?.(undefined, undefined);
    this.#playing.delete(root);
  }
}

/** The plugin reads the environment of its process, and pauses after slow calls. Here no call is slow. */
export async function withEnvironment<Result>(
  env: Record<string, string>,
  act: () => Promise<Result>,
): Promise<Result> {
  const own = process.env;
  process.env = { ...env };
  const clock = vi.spyOn(performance, "now").mockReturnValue(0);
  try {
    return await act();
  } finally {
    process.env = own;
    clock.mockRestore();
  }
}

/** Work that the plugin does when it is idle (its warm-up, a look at the index) would run at an unpredictable time, so it is left out. */
async function withoutLater<Result>(act: () => Promise<Result>): Promise<Result> {
  const { setTimeout: own } = globalThis;
  globalThis.setTimeout = (() => own(() => undefined, 0)) as unknown as typeof setTimeout;
  try {
    return await act();
  } finally {
    globalThis.setTimeout = own;
  }
}
