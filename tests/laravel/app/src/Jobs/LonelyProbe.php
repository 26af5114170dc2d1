<?php

declare(strict_types=1);

namespace App\Jobs;

use Illuminate\Queue\Middleware\WithoutOverlapping;

/**
 * Never runs while another one does.
 */
final class LonelyProbe extends Probe
{
    /** Seconds after which a lock whose holder died is free again; 0: never. */
    public int $expireAfter = 0;

    /**
     * @return list<object>
     */
    public function middleware(): array
    {
        return [(new WithoutOverlapping('lonely'))->releaseAfter(1)->expireAfter($this->expireAfter)];
    }
}
