export { type PagesDeps, pageRoutes } from './page-routes.ts'
