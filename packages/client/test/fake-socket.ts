import type { SocketLike } from '../src/realtime/reconnecting-socket.ts'

/** A socket whose events the test makes. */
export class FakeSocket implements SocketLike {
  onopen: SocketLike['onopen'] = null
  onmessage: SocketLike['onmessage'] = null
  onclose: SocketLike['onclose'] = null
  onerror: SocketLike['onerror'] = null
  bufferedAmount = 0
  readonly sent: unknown[] = []
  isClosed = false
  hasEnded = false
  onSend: ((data: unknown) => void) | undefined

  send(data: unknown): void {
    this.sent.push(data)
    this.onSend?.(data)
  }

  close(): void {
    this.isClosed = true
  }

  open(): void {
    this.onopen?.({} as never)
  }

  receive(data: unknown): void {
    this.onmessage?.({ data } as never)
  }

  end(code: number, reason = ''): void {
    this.hasEnded = true
    this.onclose?.({ code, reason } as never)
  }
}
