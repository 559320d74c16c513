import { getVapidKey, subscribePush, unsubscribePush } from '@kith/protocol'
import type { PushData } from '#lib/push-notice.ts'
import { client } from './client.ts'
import { mayKeep } from './wipe.ts'
import { registerWorker } from './worker.ts'

// The number that the server gave the subscription of this browser.
const storageKey = 'kith-push'

/** Whether this browser can be sent push messages here. */
export function canBePushed(): boolean {
  return 'serviceWorker' in navigator && 'PushManager' in window && 'Notification' in window
}

/** Whether this browser is sent push messages. */
export async function isPushed(): Promise<boolean> {
  return Notification.permission === 'granted' && Boolean(await presentSubscription())
}

async function presentSubscription(): Promise<PushSubscription | null | undefined> {
  const registration = await registerWorker()
  return await registration?.pushManager?.getSubscription()
}

/** Asks whether notifications may be shown, and has this browser notified. To be called on a tap. */
export async function startPush(): Promise<'started' | 'denied'> {
  if ((await Notification.requestPermission()) !== 'granted') return 'denied'
  if (!(await registerWorker())) throw new Error('This browser keeps no service worker.')
  const { pushManager } = await navigator.serviceWorker.ready
  const { data } = await client.call(getVapidKey)
  const options = { userVisibleOnly: true, applicationServerKey: data.publicKey }
  await announce(await pushManager.subscribe(options))
  return 'started'
}

/** Tells the server of the subscription of this browser again: one of a former session has ended with it. */
export async function keepPush(): Promise<void> {
  if (!canBePushed() || Notification.permission !== 'granted') return
  const subscription = await presentSubscription()
  if (subscription) await announce(subscription)
}

async function announce(subscription: PushSubscription): Promise<void> {
  const { endpoint = '', keys = {}, expirationTime = null } = subscription.toJSON()
  const { p256dh = '', auth = '' } = keys
  const body = { subscription: { endpoint, expirationTime, keys: { p256dh, auth } } }
  const { data } = await client.call(subscribePush, { body })
  if (mayKeep()) localStorage.setItem(storageKey, String(data.id))
}

/** Has this browser notified no more. */
export async function endPush(): Promise<void> {
  await (await presentSubscription())?.unsubscribe()
  const id = Number(localStorage.getItem(storageKey))
  localStorage.removeItem(storageKey)
  // The push service has ended it: the server would learn that from it.
  if (id > 0) await client.call(unsubscribePush, { params: { id } }).catch(() => undefined)
}

/** Closes the notifications of this browser whose subject was read, here or on another device. */
export async function closePushed(isRead: (about: PushData) => boolean): Promise<void> {
  const registration = await navigator.serviceWorker?.getRegistration()
  for (const shown of (await registration?.getNotifications?.()) ?? [])
    if (isRead(shown.data as PushData)) shown.close()
}
