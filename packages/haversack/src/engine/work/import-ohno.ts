/** Work that was tracked with ohno moves in. Its file is only read; a second time nothing is doubled. */
import { HaversackError } from "../../base/errors.ts";
import type { ImportReport } from "../../store/work-records.ts";
import type { Actor, WorkStore } from "../../store/work-store.ts";
import { findOhnoFile, readForeignDatabase } from "./ohno-database.ts";
import { type LeftOver, ohnoRecords } from "./ohno-records.ts";

export interface OhnoReport extends ImportReport {
  file: string;
  /** What could not be carried over, with counts. */
  left: LeftOver[];
}

export async function importOhno(
  store: Pick<WorkStore, "importRecords">,
  { path, isDryRun = false }: { path: string; isDryRun?: boolean },
  by: Actor,
): Promise<OhnoReport> {
  const database = readForeignDatabase(findOhnoFile(path));
  if (!database.tables.has("tasks")) {
    throw new HaversackError("input-invalid", `${database.file} has no table "tasks": it is not ohno's`);
  }
  const { records, left } = ohnoRecords(database);
  return { file: database.file, ...(await store.importRecords(records, { isDryRun }, by)), left };
}
