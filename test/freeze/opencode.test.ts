import "./as-built.ts";
import { runScenarios } from "./run-scenarios.ts";

runScenarios("opencode");
