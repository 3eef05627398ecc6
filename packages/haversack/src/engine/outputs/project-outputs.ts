/** The outputs that are kept in a project's store. */
import { resolve } from "node:path";
import type { StoreHandle } from "../../store/sqlite/access.ts";
import { SqliteOutputs } from "../../store/sqlite/outputs/sqlite-outputs.ts";
import { findProject, openProject } from "../open-project.ts";
import type { OutputShelf } from "./kept-outputs.ts";

export function outputsOf(handle: StoreHandle): SqliteOutputs {
  return new SqliteOutputs(handle);
}

/** For a program that keeps outputs itself. Makes the store if there is none. */
export function openOutputs(folder: string): OutputShelf & { close(): void } {
  const { handle, close } = openProject(findProject({ cwd: resolve(folder), env: process.env }), { access: "save" });
  const outputs = new SqliteOutputs(handle);
  return {
    put: (output, limits) => outputs.put(output, limits),
    get: (name) => outputs.get(name),
    list: (limit, sessionId) => outputs.list(limit, sessionId),
    forget: (sessionId) => outputs.forget(sessionId),
    close,
  };
}
