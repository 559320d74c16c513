export { notificationsNews } from './notifications-news.ts'
export { notificationsKey } from './notifications-query.ts'
export { useNewNotifications, useNotificationsSeen } from './use-new-notifications.ts'
