import { destination, type LoggerOptions, type Logger as Pino, pino, stdTimeFunctions } from 'pino'
import { printable } from '#lib/printable.ts'
import { hideSecrets, scrub } from './hide-secrets.ts'
import type { Logger } from './logger.ts'
import { prettyLine } from './pretty-line.ts'

/** Takes finished lines. */
interface LogSink {
  write(line: string): unknown
}

export interface OpenLoggerOptions {
  readonly level: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent'
  readonly format: 'json' | 'pretty'
  /** Standard error when absent: standard output belongs to what the program answers. */
  readonly sink?: LogSink
}

interface RootLogger extends Logger {
  /** Writes what is still in memory. */
  flush(): Promise<void>
}

// What waits for a reader of the log that has stopped reading; further lines are lost rather than memory.
const maxBufferBytes = 8 * 1024 * 1024

/** The log of this process. Secrets are kept out twice: by the names of details, and by their look in the finished line. */
export function openLogger({ level, format, sink }: OpenLoggerOptions): RootLogger {
  const { stream, flush } = sink ? { stream: sink, flush: async () => undefined } : standardError()
  const options: LoggerOptions = {
    level,
    base: null,
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }), log: hideSecrets },
    // Errors are made plain by `hideSecrets`, wherever they stand.
    serializers: { err: (error) => error },
    hooks: { streamWrite: (line) => `${printable(scrub(line.slice(0, -1)))}\n` },
  }
  const logger = narrowed(pino(options, format === 'json' ? stream : prettySink(stream, sink === undefined)))
  return { ...logger, flush }
}

function narrowed(logger: Pino): Logger {
  return {
    trace: (details, message) => logger.trace(details, message),
    debug: (details, message) => logger.debug(details, message),
    info: (details, message) => logger.info(details, message),
    warn: (details, message) => logger.warn(details, message),
    error: (details, message) => logger.error(details, message),
    fatal: (details, message) => logger.fatal(details, message),
    child: (details) => narrowed(logger.child(hideSecrets(details))),
  }
}

function standardError(): { stream: LogSink; flush: () => Promise<void> } {
  // Not waiting for the reader keeps a slow one from slowing the server; the library writes the rest on exit.
  const stream = destination({ fd: 2, sync: false, maxLength: maxBufferBytes })
  const flush = () =>
    new Promise<void>((resolve, reject) => stream.flush((error) => (error ? reject(error) : resolve())))
  return { stream, flush }
}

function prettySink(sink: LogSink, isStandardError: boolean): LogSink {
  const hasColour = isStandardError && (process.stderr.hasColors?.() ?? false)
  return { write: (line) => sink.write(prettyLine(line, hasColour)) }
}
