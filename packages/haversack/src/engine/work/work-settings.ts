/** The settings that work goes by, in the units it counts in. */
import type { Config } from "../../base/config-schema.ts";

export interface WorkSettings {
  leaseMs: number;
  /** Of one agent at once. Absent: no limit. */
  maxClaims?: number;
}

export function workSettings(config: Pick<Config, "work.leaseMinutes" | "work.maxClaims">): WorkSettings {
  const maxClaims = config["work.maxClaims"];
  return { leaseMs: config["work.leaseMinutes"] * 60_000, ...(maxClaims > 0 && { maxClaims }) };
}
