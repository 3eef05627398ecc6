import { expect, it } from "vitest";
import { SETTINGS } from "../../base/config-schema.ts";
import { readSendBack } from "./hook-artifact-settings.ts";

it("has the table's default, and the last file wins", () => {
  expect(readSendBack([])).toBe(SETTINGS["artifacts.sendBack"].default);
  expect(readSendBack([{ artifacts: { sendBack: true } }])).toBe(true);
  expect(readSendBack([{ "artifacts.sendBack": true }, { artifacts: { sendBack: false } }])).toBe(false);
  expect(readSendBack([{ "artifacts.sendBack": true }, { artifacts: { sendBack: "no" } }, null])).toBe(true);
});
