import type { NewsHandlers } from '#platform/news.ts'
import { resumeSession } from '#platform/session.ts'
import { isChanging, showSetting } from './settings-query.ts'

/** Settings that were changed on another device. */
export const settingsNews: NewsHandlers = {
  SETTING([name, value]) {
    if (isChanging()) return
    // The event has the default of a value that was removed; the session says that none is set.
    if (name === 'language') void resumeSession().catch(() => undefined)
    else showSetting(name, value)
  },
}
