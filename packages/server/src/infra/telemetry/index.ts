export { type Logger, silentLogger } from './logger.ts'
export type { Metrics, ServerCounts } from './metrics.ts'
export { openLogger } from './open-logger.ts'
export { openMetrics } from './open-metrics.ts'
