/** A project that stays open for many calls: each part of the library binds its operations to one. */
import type { LiveParts } from "./work/live-work.ts";

export interface BoundProject {
  /** Makes no folder and no store. */
  read<T>(use: (parts: LiveParts) => Promise<T>): Promise<T>;
  write<T>(use: (parts: LiveParts) => Promise<T>): Promise<T>;
}
