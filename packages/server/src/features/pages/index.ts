export { readHostModule } from './app-host-assets.ts'
export type { PublicContent } from './find-public.ts'
export { pageLanguage } from './page-language.ts'
export { absentPage, pageRoutes } from './page-routes.ts'
