<?php

declare(strict_types=1);

namespace Askr\Laravel\Queue;

use RuntimeException;

/**
 * A job's reservation ended while its handler ran, so another worker may run the job as well.
 */
final class ReservationLost extends RuntimeException
{
    public function __construct(AskrJob $job)
    {
        parent::__construct(sprintf(
            'Job %d (%s) on queue "%s" lost its reservation in attempt %d: another worker may have run it as '
            . 'well. Its result here was discarded. Raise retry_after if the machine is often paused or overloaded.',
            $job->getJobId(),
            $job->resolveName(),
            $job->getQueue(),
            $job->attempts(),
        ));
    }
}
