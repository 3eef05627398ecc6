/** Whether something waits in the spool: one look, for whoever asks at every event. The hook bundles this file. */
import { existsSync } from "node:fs";
import { folderOf } from "../folder.ts";

export function spoolOf(storeFile: string): string {
  return `${folderOf(storeFile)}/spool`;
}

export function hasSpool(storeFile: string): boolean {
  return existsSync(spoolOf(storeFile));
}
