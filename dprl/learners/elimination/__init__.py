"""Policy elimination: learners that play several policies and drop the worse ones, stage by stage."""
