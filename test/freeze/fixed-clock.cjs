// Loaded before a program of ours (`node --require`): it is always the time in FREEZE_NOW.
const now = Date.parse(process.env.FREEZE_NOW);

globalThis.Date = class extends Date {
  constructor(...parts) {
    if (parts.length > 0) super(...parts);
    else super(now);
  }

  static now() {
    return now;
  }
};
