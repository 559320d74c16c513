export { MessagesScreen } from './messages-screen.tsx'
export { messageSender } from './sending.ts'
