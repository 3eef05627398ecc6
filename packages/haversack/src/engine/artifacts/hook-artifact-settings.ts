/** The setting of artifacts that a hook needs, read by hand as in hook-settings.ts. A test holds this reader against the table. */
export function readSendBack(files: readonly unknown[]): boolean {
  let sendBack = false;
  // Later files beat earlier ones; a wrong value counts as absent.
  for (const file of files) {
    const fields = file as Record<string, Record<string, unknown> | undefined> | null;
    for (const value of [fields?.["artifacts"]?.["sendBack"], fields?.["artifacts.sendBack"]]) {
      if (typeof value === "boolean") sendBack = value;
    }
  }
  return sendBack;
}
