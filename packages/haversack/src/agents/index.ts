/**
 * Agents with skills on the AI SDK: `import { AgentSystemBuilder } from "haversack/agents"`.
 *
 * `AgentSystemBuilder` puts a system together; `executor.execute` and `executor.stream` run agents in it. If you keep your own loop,
 * `skillMiddleware` adds skills to any model, and `skillTools` and `skillMessages` are the plain functions behind it. `saveOutputs` and
 * `contextSavers` keep long tool outputs out of the window.
 */
export {
  type AgentDefinition,
  type AgentInput,
  parseAgent,
  type ReadAgents,
  type ReasoningLevel,
  readAgentFolder,
} from "./agent-file.ts";
export { type AgentSystem, AgentSystemBuilder, type ModelChoice } from "./builder.ts";
export { type ClaudeAgentOptions, type ClaudeAgentSetup, claudeAgentOptions } from "./claude-agent.ts";
export type { AgentSystemConfig, AgentSystemOptions, CallOptions, InjectAs } from "./config.ts";
export {
  contextSavers,
  OutputSaver,
  type OutputSaverOptions,
  type OutputStore,
  projectOutputs,
  type RecallInput,
  type SavedOutput,
  saveOutputs,
} from "./context-savers.ts";
export {
  ConversationLedger,
  type ConversationStore,
  type LedgerEntry,
  type SavedConversation,
} from "./conversations.ts";
export { AgentError, type AgentErrorDetails, type AgentFaultCode, type AgentProblem } from "./errors.ts";
export {
  type AgentEvent,
  type AgentEventDetails,
  type AgentLogger,
  consoleLogger,
  formatEvent,
  jsonLinesLogger,
  type LoadedBy,
  type MemoryLogger,
  memoryLogger,
  noLogger,
} from "./events.ts";
export { AgentExecutor, AgentRegistry, type AgentStream, type ExecuteOptions, type OutputOption } from "./executor.ts";
export { folderStore } from "./folder-store.ts";
export {
  type AgentContext,
  type AgentMiddleware,
  type AgentResult,
  type AgentStep,
  type AgentToolCall,
  createSkillAutoTriggerMiddleware,
  type Delegation,
  type LoadedSkill,
  OutputText,
  type ToolCallInfo,
  type ToolWrapper,
} from "./middleware.ts";
export {
  type AutoTriggerOptions,
  type SkillMiddlewareOptions,
  skillMessages,
  skillMiddleware,
  skillTools,
} from "./own-loop.ts";
export { type AnalyzeOptions, SkillAutoTrigger, type SkillTrigger } from "./skill-auto-trigger.ts";
export { type CachedSkill, SkillCache, type SkillCacheOptions } from "./skill-cache.ts";
export {
  type Skill,
  type SkillProblem,
  SkillRegistry,
  type SkillRegistryOptions,
  type SkillResources,
  type SkillTriggers,
} from "./skill-registry.ts";
export { SkillTool, type SkillToolInput, type SkillToolOptions, type SkillToolResult } from "./skill-tool.ts";
export { findStaticSkills, formatStaticSkills, type StaticSkills } from "./static-skills.ts";
