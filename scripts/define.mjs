// What the build puts into every bundle: the package's version, and the text of the newest schema, which the hook compares without carrying the migrations.
import { readFileSync } from "node:fs";
import { newestSchema } from "../packages/haversack/src/store/sqlite/schema.ts";

const { version } = JSON.parse(readFileSync(new URL("../packages/haversack/package.json", import.meta.url), "utf8"));

export const define = { __VERSION__: JSON.stringify(version), __SCHEMA_TEXT__: JSON.stringify(newestSchema()) };
