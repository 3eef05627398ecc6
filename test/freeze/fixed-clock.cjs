// Loaded before a program of ours (`node --require`): it is always the time in FREEZE_NOW, or that in the file FREEZE_NOW_FILE.
const { readFileSync } = require("node:fs");

const { FREEZE_NOW, FREEZE_NOW_FILE } = process.env;
const now = () => Date.parse(FREEZE_NOW_FILE ? readFileSync(FREEZE_NOW_FILE, "utf8") : FREEZE_NOW);

globalThis.Date = class extends Date {
  constructor(...parts) {
    if (parts.length > 0) super(...parts);
    else super(now());
  }

  static now() {
    return now();
  }
};
