import { createStore } from '#lib/store.ts'
import { connection } from './connection.ts'
import { quiet } from './quiet.ts'

const workerPath = '/service-worker.js'

/** Whether a newer version of the app waits to be taken. */
export const newVersion = createStore(false)

let registering: Promise<ServiceWorkerRegistration | undefined> | undefined

/** Has the browser keep the app, so that it opens without a connection and can be sent push messages. Resolves to nothing
 * where that is not possible. */
export function registerWorker(): Promise<ServiceWorkerRegistration | undefined> {
  registering ??= register()
  return registering
}

async function register(): Promise<ServiceWorkerRegistration | undefined> {
  if (!('serviceWorker' in navigator)) return undefined
  try {
    // It loads the whole app, which what is shown first does not wait for.
    await quiet()
    const registration = await navigator.serviceWorker.register(workerAddress() as string)
    registration.addEventListener('updatefound', () => watch(registration, registration.installing))
    // The browser looks for one by itself, and may have been faster.
    watch(registration, registration.installing ?? registration.waiting)
    // Browsers look when a page is loaded. A server that was away may be a newer one.
    connection.subscribe(() => {
      if (connection.get() === 'open') registration.update().catch(() => undefined)
    })
    return registration
  } catch {
    // Private windows of some browsers have no workers.
    return undefined
  }
}

// The only policy of the app: it makes this address and nothing else.
function workerAddress(): unknown {
  const { trustedTypes } = globalThis as unknown as { readonly trustedTypes?: TrustedTypes }
  if (!trustedTypes) return workerPath
  const policy = trustedTypes.createPolicy('kith', {
    createScriptURL(address) {
      if (address !== workerPath) throw new TypeError(`${address} is not the worker`)
      return address
    },
  })
  return policy.createScriptURL(workerPath)
}

interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createScriptURL(address: string): string },
  ): { createScriptURL(address: string): unknown }
}

function watch({ active }: ServiceWorkerRegistration, newer: ServiceWorker | null): void {
  // The first one of this browser is no newer version.
  if (!newer || !active) return
  const look = () => {
    if (newer.state === 'installed') newVersion.set(true)
  }
  newer.addEventListener('statechange', look)
  look()
}
