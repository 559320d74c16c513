import {
  type AppContext,
  type EndReason,
  messageVersions,
  readWindowMessage,
  windowMessage,
} from '../messages/messages.ts'
import { AppSession, maxMalformed, type SessionOptions } from './app-session.ts'
import type { FileAccess } from './file-access.ts'
import { guardFocus } from './focus-guard.ts'

export interface MountOptions
  extends Pick<SessionOptions, 'capabilities' | 'onTitle' | 'onResize' | 'onState'> {
  /** How the host reaches the file that the app is opened on. */
  readonly access: FileAccess
  /** Where the frame goes. */
  readonly container: HTMLElement
  /** The address of the app's entry page, on the origin of the host. */
  readonly src: string
  /** The name of the frame, for screen readers. */
  readonly title: string
  readonly context: AppContext
  /** Makes the WebSocket; the global one when absent. */
  readonly connect?: (url: string) => WebSocket
  /** The app asks to open this address in another tab, after a click or a key in its page. The host shows the person all
   * of it, and asks. Clicks that were meant for the app may follow: they are to open nothing. */
  readonly onNavigate?: (url: URL) => void
  /** The app has connected. */
  readonly onReady?: () => void
  /** The app has ended and its frame is gone, but for `stop`. */
  readonly onEnd?: (reason: EndReason) => void
}

/** An app that is shown. */
export interface MountedApp {
  /** How many messages of the app were dropped because they are none. */
  readonly malformed: number
  /** Tells the app another theme, language, user or file name. */
  update(context: AppContext): void
  /** Ends the app and removes its frame. */
  stop(): void
}

/** Shows an app in a sandboxed frame, and gives its page one port. The page has no storage and no origin of its own; it may not
 * navigate the top, open windows or dialogs, or download. */
export function mountApp(options: MountOptions): MountedApp {
  return new AppFrame(options)
}

class AppFrame implements MountedApp {
  readonly #options: MountOptions
  readonly #frame: HTMLIFrameElement
  #context: AppContext
  #session: AppSession | undefined
  #malformed = 0
  #isLoaded = false
  #isEnded = false
  readonly #unguard: () => void

  constructor(options: MountOptions) {
    this.#options = options
    this.#context = options.context
    this.#frame = document.createElement('iframe')
    this.#frame.setAttribute('sandbox', 'allow-scripts allow-forms')
    this.#frame.setAttribute('allow', '')
    this.#frame.referrerPolicy = 'no-referrer'
    this.#frame.title = options.title
    this.#frame.src = options.src
    this.#frame.addEventListener('load', this.#onLoad)
    window.addEventListener('message', this.#onMessage)
    options.container.append(this.#frame)
    this.#unguard = guardFocus(this.#frame, () => this.#endAndTell('focus'))
  }

  get malformed(): number {
    return this.#malformed + (this.#session?.malformed ?? 0)
  }

  update(context: AppContext): void {
    this.#context = context
    this.#session?.update(context)
  }

  stop(): void {
    this.#end('stopped')
  }

  /** The frame has another page now, which is not the one that was given the port. */
  readonly #onLoad = (): void => {
    if (this.#isLoaded) this.#endAndTell('navigated')
    this.#isLoaded = true
  }

  readonly #onMessage = ({ source, origin, data }: MessageEvent): void => {
    if (source !== this.#frame.contentWindow || source === null) return
    // A sandboxed page has an opaque origin. Any other is none that this host has shown.
    const message = origin === 'null' ? readWindowMessage(data) : undefined
    if (message?.type === 'hello' && !this.#session) this.#welcome(message.versions)
    else this.#noteMalformed()
  }

  #welcome(versions: readonly number[]): void {
    const { port1, port2 } = new MessageChannel()
    const version = messageVersions.find((candidate) => versions.includes(candidate))
    // An opaque origin cannot be named; `source` was checked, and the frame can only show this origin (`frame-src`).
    const post = (message: object, transfer: Transferable[]) =>
      this.#frame.contentWindow?.postMessage(message, '*', transfer)
    if (version === undefined) {
      post(windowMessage({ type: 'refused' }), [])
      return
    }
    const { access, capabilities, onTitle, onResize, onNavigate, onState, connect, onReady } = this.#options
    this.#session = new AppSession(port1, this.#context, {
      socketUrl: (request) => access.socketUrl(request),
      readBytes: (start, end) => access.readBytes(start, end),
      capabilities,
      connect: connect ?? ((url) => new WebSocket(url)),
      ...(onTitle && { onTitle }),
      ...(onResize && { onResize }),
      ...(onNavigate && { onNavigate: (url) => this.#isInUse() && onNavigate(url) }),
      ...(onState && { onState }),
      end: (reason) => this.#endAndTell(reason),
    })
    post(windowMessage({ type: 'welcome', version, context: this.#context }), [port2])
    onReady?.()
  }

  /** The person has clicked or typed a moment ago, and in the app. */
  #isInUse(): boolean {
    return navigator.userActivation.isActive && document.activeElement === this.#frame
  }

  #noteMalformed(): void {
    this.#malformed += 1
    if (this.#malformed === maxMalformed) this.#endAndTell('malformed')
  }

  #endAndTell(reason: EndReason): void {
    if (this.#isEnded) return
    this.#end(reason)
    this.#options.onEnd?.(reason)
  }

  #end(reason: EndReason): void {
    if (this.#isEnded) return
    this.#isEnded = true
    window.removeEventListener('message', this.#onMessage)
    this.#frame.removeEventListener('load', this.#onLoad)
    this.#unguard()
    this.#session?.close(reason)
    // What the page still does ends with its frame.
    this.#frame.remove()
  }
}
