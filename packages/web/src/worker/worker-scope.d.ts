/** What a service worker has, as far as this one uses it: TypeScript's own library of it contradicts that of pages. */
interface WorkerEvent extends Event {
  waitUntil(work: Promise<unknown>): void
}

interface WorkerFetchEvent extends WorkerEvent {
  readonly request: Request
  readonly clientId: string
  respondWith(answer: Promise<Response>): void
}

interface WorkerMessageEvent extends WorkerEvent {
  readonly data: unknown
  readonly source: WorkerClient | null
  readonly ports: readonly MessagePort[]
}

interface WorkerPushEvent extends WorkerEvent {
  readonly data: { json(): unknown } | null
}

interface WorkerNotificationEvent extends WorkerEvent {
  readonly notification: Notification
}

interface WorkerClient {
  readonly id: string
  readonly url: string
  focus(): Promise<WorkerClient>
  navigate(url: string): Promise<WorkerClient | null>
  postMessage(message: unknown, transfer?: readonly Transferable[]): void
}

interface WorkerScope {
  readonly location: Location
  readonly registration: ServiceWorkerRegistration
  readonly clients: {
    get(id: string): Promise<WorkerClient | undefined>
    matchAll(options: { readonly type: 'window' }): Promise<readonly WorkerClient[]>
    openWindow(url: string): Promise<WorkerClient | null>
  }
  addEventListener(type: 'install' | 'activate', listener: (event: WorkerEvent) => void): void
  addEventListener(type: 'fetch', listener: (event: WorkerFetchEvent) => void): void
  addEventListener(type: 'message', listener: (event: WorkerMessageEvent) => void): void
  addEventListener(type: 'push', listener: (event: WorkerPushEvent) => void): void
  addEventListener(type: 'notificationclick', listener: (event: WorkerNotificationEvent) => void): void
}
