/** The log, for operators. Details hold data, the message is a constant sentence. */
export interface Logger {
  trace(details: object, message: string): void
  debug(details: object, message: string): void
  info(details: object, message: string): void
  warn(details: object, message: string): void
  error(details: object, message: string): void
  fatal(details: object, message: string): void
  /** A logger that adds the details to each line. */
  child(details: object): Logger
}

const ignore = () => undefined

/** Says nothing. */
export const silentLogger: Logger = {
  trace: ignore,
  debug: ignore,
  info: ignore,
  warn: ignore,
  error: ignore,
  fatal: ignore,
  child: () => silentLogger,
}
