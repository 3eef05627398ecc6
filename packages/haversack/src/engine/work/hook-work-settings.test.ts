import { expect, it } from "vitest";
import { readConfig } from "../../base/config.ts";
import { readHookWorkSettings } from "./hook-work-settings.ts";
import { workSettings } from "./work-settings.ts";

const FILES: unknown[][] = [
  [],
  [{}],
  [{ work: { leaseMinutes: 5, replaceResults: true } }],
  [{ "work.leaseMinutes": 5 }, { work: { leaseMinutes: 9, replaceResults: false } }],
  [{ work: { leaseMinutes: 0, replaceResults: "yes" } }],
  [{ work: { leaseMinutes: 1.5 } }, { work: { leaseMinutes: 100_001 } }],
  [{ work: { replaceResults: true } }, { "work.replaceResults": 1 }],
  [null, [], "x", { work: null }, { work: [] }],
];

it.each(FILES.map((files) => [JSON.stringify(files), files]))("reads %s as the table of settings does", (_, files) => {
  const { config } = readConfig((files as unknown[]).map((value, at) => ({ file: String(at), value })));
  expect(readHookWorkSettings(files as unknown[])).toEqual({
    leaseMs: workSettings(config).leaseMs,
    replaceResults: config["work.replaceResults"],
  });
});
