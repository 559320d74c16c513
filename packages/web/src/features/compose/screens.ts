export { DraftsScreen } from './drafts-screen.tsx'
export { NewScreen } from './new-screen.tsx'
