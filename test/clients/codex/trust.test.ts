/** Where the real client keeps the person's review of hooks: `doctor` reads it there. Nothing is trusted here: the hash is none. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { hookKey, readTrust } from "../../../packages/haversack/src/clients/codex/trust.ts";
import { ownHooks } from "../../../packages/haversack/src/clients/hook-settings.ts";
import { haversackRepo } from "./haversack-repo.ts";
import { listHooks } from "./list-hooks.ts";

it("keeps it in config.toml under file, event and place", async () => {
  const repo = haversackRepo("user");
  const file = join(repo.codexHome, "hooks.json");
  const hooks = ownHooks("codex", JSON.parse(readFileSync(file, "utf8")));
  const keys = hooks.map((hook) => hookKey(file, hook));
  const before = await listHooks(repo, { plugins: false });
  expect(before.map(({ key }) => key).sort()).toEqual(keys.toSorted());
  expect(new Set(before.map(({ trustStatus }) => trustStatus))).toEqual(new Set(["untrusted"]));

  const [reviewed, off] = keys;
  repo.addConfig(`\n[hooks.state.${JSON.stringify(reviewed)}]\ntrusted_hash = "sha256:none"\n`);
  repo.addConfig(`[hooks.state.${JSON.stringify(off)}]\nenabled = false\n`);
  const after = new Map((await listHooks(repo, { plugins: false })).map((hook) => [hook.key, hook]));
  // A review of another hook: the client finds it and ignores it.
  expect(after.get(reviewed!)).toMatchObject({ trustStatus: "modified", enabled: true });
  expect(after.get(off!)).toMatchObject({ trustStatus: "untrusted", enabled: false });

  const config = readFileSync(join(repo.codexHome, "config.toml"), "utf8");
  const trust = readTrust(config, { root: repo.root, file, hooks });
  expect(trust.unreviewed).toEqual(hooks.slice(1).map(({ event }) => event));
  expect(trust.switchedOff).toEqual([hooks[1]?.event]);
});
