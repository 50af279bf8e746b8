/** `@svc/web/server`: the way to the server alone, for scripts that are loaded at each start, such as those of badges. */
export { asProblem, isAborted, probe, send, sendForStream, type Answer, type Ask } from './client/request.ts';
export { hear, type Hearing } from './client/live.ts';
export { MOVED_TOPIC, type State } from './client/workflow.ts';
