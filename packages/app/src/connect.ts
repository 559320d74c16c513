import { type App, HostedApp } from './hosted-app.ts'
import { type AppContext, messageVersions, readWindowMessage, windowMessage } from './messages/messages.ts'

export interface ConnectOptions {
  /** How long to wait for the host, in ms; 10 000 when absent. */
  readonly timeoutMs?: number
}

let connecting: Promise<App> | undefined

/** Connects to the host in whose frame this page runs. Rejects where there is none. Called again it gives the same app, since a
 * page has one connection, or tries again. */
export function connect(options: ConnectOptions = {}): Promise<App> {
  connecting ??= meetHost(options).then(({ port, context }) => new HostedApp(port, context))
  connecting.catch(() => {
    connecting = undefined
  })
  return connecting
}

interface Met {
  readonly port: MessagePort
  readonly context: AppContext
}

function meetHost({ timeoutMs = 10_000 }: ConnectOptions): Promise<Met> {
  const { promise, resolve, reject } = Promise.withResolvers<Met>()
  const host = window.parent
  if (host === window) return Promise.reject(new Error('this page is not shown by a host of Kith apps'))
  const timer = setTimeout(() => reject(new Error('no host has answered')), timeoutMs)
  const onMessage = ({ source, data, ports }: MessageEvent) => {
    const message = source === host ? readWindowMessage(data) : undefined
    if (message?.type === 'refused') reject(new Error('the host speaks no version of this SDK'))
    else if (message?.type === 'welcome' && ports[0] && messageVersions.includes(message.version))
      resolve({ port: ports[0], context: message.context })
  }
  window.addEventListener('message', onMessage)
  // Nothing in it is secret, and the origin of the host is not known here.
  host.postMessage(windowMessage({ type: 'hello', versions: messageVersions }), '*')
  return promise.finally(() => {
    clearTimeout(timer)
    window.removeEventListener('message', onMessage)
  })
}
