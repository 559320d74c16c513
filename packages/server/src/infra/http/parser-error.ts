import type { Socket } from 'node:net'
import type { Clock } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { rawAnswer } from './raw-answer.ts'
import { answerUnderWay } from './request-turns.ts'

interface ParserError extends Error {
  readonly code?: string
}

/** Answers what the HTTP parser refused, and ends the connection: what follows on it cannot be trusted. */
export function answerParserError(error: ParserError, socket: Socket, clock: Clock): void {
  if (error.code === 'ECONNRESET' || !socket.writable || hasBegunAnswer(socket)) {
    socket.destroy()
    return
  }
  socket.end(rawAnswer(clock, verdictOn(error)))
}

// 408 and 431 say more than the statuses of our codes do.
function verdictOn({ code }: ParserError): { status: 400 | 408 | 431; failure: Failure } {
  if (code === 'HPE_HEADER_OVERFLOW') return { status: 431, failure: new Failure('E-TOOLARGE') }
  const message = code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 'The request took too long to arrive.' : undefined
  return message
    ? { status: 408, failure: new Failure('E-VALIDATION', { message }) }
    : { status: 400, failure: new Failure('E-VALIDATION') }
}

/** An answer that is being written would be torn by another one. */
function hasBegunAnswer(socket: Socket): boolean {
  const answer = answerUnderWay(socket)
  return (
    typeof answer === 'object' && answer !== null && 'headersSent' in answer && answer.headersSent === true
  )
}
