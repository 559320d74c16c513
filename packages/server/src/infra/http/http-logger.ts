/** The part of a logger that the HTTP server uses; a pino logger is one. */
export interface HttpLogger {
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}
