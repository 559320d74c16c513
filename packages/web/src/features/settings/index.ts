export { settingsNews } from './settings-news.ts'
export { changeSettings, settingsQuery } from './settings-query.ts'
