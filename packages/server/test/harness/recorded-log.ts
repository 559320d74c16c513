import { type Logger, openLogger } from '#infra/telemetry/index.ts'

/** The log of a server as it is written, in lines. */
export class RecordedLog {
  readonly lines: string[] = []
  readonly logger: Logger

  constructor({
    level = 'info',
    format = 'json',
  }: { level?: 'debug' | 'info'; format?: 'json' | 'pretty' } = {}) {
    this.logger = openLogger({ level, format, sink: { write: (line) => this.lines.push(line.trimEnd()) } })
  }

  /** Of a log in JSON, the lines with this message. */
  of(msg: string): Record<string, unknown>[] {
    return this.lines.map((line) => JSON.parse(line)).filter((entry) => entry.msg === msg)
  }
}
