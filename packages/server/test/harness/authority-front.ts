import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer, request } from 'node:https'
import type { AddressInfo } from 'node:net'

interface Fault {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** Stands before an authority and hands requests on to it, save those that a test answers: faults that the authority itself
 * does not have. */
export class AuthorityFront implements AsyncDisposable {
  readonly directoryUrl: string
  /** The paths that were asked for. */
  readonly asked: string[] = []
  /** Takes the place of the authority's answer to a path. */
  answer: (path: string) => Fault | undefined = () => undefined
  readonly #close: () => void

  private constructor(directoryUrl: string, close: () => void) {
    this.directoryUrl = directoryUrl
    this.#close = close
  }

  /** On another port of the authority's address, with the same certificate. */
  static async start(authority: {
    readonly directoryUrl: string
    readonly caFile: string
    readonly keyFile: string
  }): Promise<AuthorityFront> {
    const { hostname, port, pathname } = new URL(authority.directoryUrl)
    const [cert, key] = await Promise.all([authority.caFile, authority.keyFile].map((file) => readFile(file)))
    const server = createServer({ cert, key }, (asked, response) => {
      const { url: path = '', method, headers } = asked
      front.asked.push(path)
      const fault = front.answer(path)
      if (fault) return response.writeHead(fault.status, fault.headers).end(fault.body)
      // It names its addresses by the host that it was asked for.
      const passed = request({ hostname, port, path, method, headers, rejectUnauthorized: false })
      passed.on('response', (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(response)
      })
      passed.on('error', () => response.destroy())
      return asked.pipe(passed)
    }).listen(0, hostname)
    await once(server, 'listening')
    const { port: own } = server.address() as AddressInfo
    const front = new AuthorityFront(`https://${hostname}:${own}${pathname}`, () => {
      server.close()
      server.closeAllConnections()
    })
    return front
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#close()
  }
}
