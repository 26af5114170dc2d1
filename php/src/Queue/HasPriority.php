<?php

declare(strict_types=1);

namespace Askr\Laravel\Queue;

/**
 * A job that wants to be taken before or after the others of its queue.
 */
interface HasPriority
{
    /**
     * Higher is taken first; 0 is what other jobs have, unless their connection says otherwise.
     */
    public function priority(): int;
}
