/** The extension of Haversack, when it is installed. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { GeminiPlaces } from "./detect.ts";

export function hasExtension({ extension }: Pick<GeminiPlaces, "extension">): boolean {
  return existsSync(join(extension, "gemini-extension.json"));
}
