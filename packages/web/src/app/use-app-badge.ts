import { useEffect } from 'preact/hooks'
import { useMessagesSeen, useUnreadMessages } from '#features/messages/index.ts'
import { useNewNotifications, useNotificationsSeen } from '#features/notifications/index.ts'

/** Shows how much is new on the icon of the installed app, where the system has a place for it, and closes notifications of the
 * system about what was read. */
export function useAppBadge(): void {
  useMessagesSeen()
  useNotificationsSeen()
  const [messages, notifications] = [useUnreadMessages(), useNewNotifications()]
  useEffect(() => {
    if (!('setAppBadge' in navigator)) return
    // Refused where the app is not installed.
    navigator.setAppBadge(messages + notifications).catch(() => undefined)
  }, [messages, notifications])
}
