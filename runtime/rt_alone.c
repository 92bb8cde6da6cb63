/* rt_alone.c: the team functions of rt.h without threads: only the caller runs. Freestanding. Link
 * it instead of rt_team.c. */
#include "rt.h"

rt_status rt_team_resize(rt_team **team, int threads)
{
    (void)team;
    return threads == 1 ? RT_OK : RT_NO_ROOM;
}

int rt_team_threads(const rt_team *team)
{
    (void)team;
    return 1;
}

void rt_team_run(rt_team *team, rt_body *body, void *job)
{
    (void)team;
    body(job, 0, 1);
}

void rt_team_share(rt_team *team, rt_body *body, void *job) { rt_team_run(team, body, job); }

void rt_team_weigh(rt_team *team, rt_body *body, void *job, int barriers, int64_t ns)
{
    (void)barriers, (void)ns;
    rt_team_run(team, body, job);
}

void rt_team_calls(const rt_team *team, unsigned *calls, unsigned *shared)
{
    (void)team;
    *calls = *shared = 0;
}

void rt_team_barrier(rt_team *team) { (void)team; }

rt_status rt_team_pin(rt_team *team)
{
    (void)team;
    return RT_NO_ROOM;
}
